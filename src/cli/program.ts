/** The command line as a function: arguments in, exit code out. 0 ok, 1 bug, 2 user error, 3 outage, 130 stopped. */
import { Command, CommanderError } from 'commander';
import { visibleLines } from '../report/visible.ts';
import { Alarmed, InfraError, Interrupted, UserError } from '../util/error.ts';
import { askCommand } from './ask.ts';
import { auditCommand } from './audit.ts';
import { bankCommand } from './bank.ts';
import { compareEvalsCommand } from './compare-evals.ts';
import { doctorCommand } from './doctor.ts';
import { evaluateCommand } from './evaluate.ts';
import { compareCommand, evolveCommand } from './evolve.ts';
import { indexCommand } from './index-command.ts';
import { manifestCommand } from './manifest.ts';
import { pretrainCommand } from './pretrain.ts';
import { replayCommand } from './replay.ts';
import { reportCommand } from './report.ts';
import { scoreCommand } from './score.ts';
import { searchCommand } from './search.ts';
import { serveEngineCommand } from './serve-engine.ts';
import { serveSearchCommand } from './serve-search.ts';
import { showCommand } from './show.ts';
import type { Terminal } from './terminal.ts';
import { trainCommand } from './train.ts';
import { codeVersion } from './version.ts';
import { worldCommand } from './world.ts';

function program(args: readonly string[], terminal: Terminal): Command {
  const root = new Command('crossfold')
    .description('Search agents that teach themselves, and an audit of what they learn.')
    .version(codeVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.replace(/\n$/, '')),
      writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
      // Errors are printed where all errors are.
      outputError: () => {},
    })
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  crossfold compare                          both systems on the miniature world, minutes on two cores',
        '  crossfold evolve --docs ./handbook         one system on your own documents',
        '  crossfold show runs/compare-quick-seed1    the tables of a run',
        '',
        'Start with "crossfold doctor" if something does not work.',
      ].join('\n'),
    );
  const commands = [
    compareCommand(terminal),
    evolveCommand(terminal),
    trainCommand(terminal),
    auditCommand(terminal),
    bankCommand(terminal),
    replayCommand(terminal),
    reportCommand(terminal),
    showCommand(terminal),
    askCommand(terminal),
    doctorCommand(terminal),
    worldCommand(terminal),
    indexCommand(terminal, args),
    searchCommand(terminal),
    manifestCommand(terminal),
    evaluateCommand(terminal),
    scoreCommand(terminal),
    compareEvalsCommand(terminal),
    serveEngineCommand(terminal),
    serveSearchCommand(terminal),
    pretrainCommand(terminal, args),
  ];
  for (const command of commands) root.addCommand(command.copyInheritedSettings(root));
  return root;
}

/** Runs one command line. @param args what follows `crossfold`. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const root = program(args, terminal);
  try {
    if (args.length === 0) {
      root.outputHelp();
      return 0;
    }
    await root.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return told(error, helpOf(root, args), terminal);
  }
}

/** The help that knows more about a command line. */
function helpOf({ commands }: Command, [first]: readonly string[]): string {
  const known = commands.some((command) => command.name() === first);
  return known ? `crossfold ${first} --help` : 'crossfold --help';
}

/** Says what went wrong, on stderr; returns the exit code. */
export function told(error: unknown, help: string, terminal: Terminal): number {
  const { red } = terminal.colours.err;
  // Messages quote files, documents and servers.
  const say = (message: string): void => terminal.err(`${red('crossfold:')} ${visibleLines(message).join('\n')}`);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const [what, ...hints] = error.message.replace(/^error: /, '').split('\n');
    say(`${[what, ...hints].join(' ').replace(/\.$/, '')}; see "${help}"`);
    return 2;
  }
  if (error instanceof UserError) {
    say(error.message);
    return 2;
  }
  if (error instanceof InfraError) {
    say(error.message);
    return 3;
  }
  if (error instanceof Interrupted) {
    say(
      error instanceof Alarmed
        ? `stopped by an alarm: ${error.message}. Run the same command without --stop-on to go on`
        : 'stopped; run the same command again to go on',
    );
    return 130;
  }
  say(`this is a bug in crossfold; please report it\n${error instanceof Error ? error.stack : String(error)}`);
  return 1;
}
