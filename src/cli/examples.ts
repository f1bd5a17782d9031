/** The examples at the end of a command's help. */

export type Example = readonly [command: string, about: string];

export function helpExamples(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  return ['\nExamples:', ...examples.map(([line, about]) => `  ${line.padEnd(width)}  ${about}`.trimEnd())].join('\n');
}
