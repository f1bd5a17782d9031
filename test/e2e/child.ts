/** Runs the tiny loop in the folder given: killed by resume.test.ts. */
import { runTiny } from './tiny.ts';

await runTiny(process.argv[2]!);
