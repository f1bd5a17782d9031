#!/usr/bin/env node
/** The `crossfold` command. */
import { runProgram } from './program.ts';
import { openTerminal } from './terminal.ts';

// `crossfold show RUN | head` closes the pipe: nobody reads on, which is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runProgram(process.argv.slice(2), openTerminal(process.stdout, process.stderr, process.env));
