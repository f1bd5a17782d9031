/**
 * The answer in a log that keeps a whole trajectory as one text: the last closed answer block of what the assistant wrote.
 * What came from a tool or a prompt is cut out first and never searched (method.md section 2). Linear time.
 */

/** Tool output, as the systems mark it that keep such logs. */
const TOOL_SPANS: readonly (readonly [open: string, close: string])[] = [
  ['<information>', '</information>'],
  ['<tool_response>', '</tool_response>'],
  ['<observation>', '</observation>'],
  ['<result>', '</result>'],
  ['<|begin_of_documents|>', '<|end_of_documents|>'],
  ['<|begin_of_search_result|>', '<|end_of_search_result|>'],
];

/** Null when there is none. */
export function lastAnswer(transcript: string): string | null {
  const own = TOOL_SPANS.reduce((text, [open, close]) => withoutSpans(text, open, close), assistantTurns(transcript));
  const end = own.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : own.lastIndexOf('<answer>', end);
  const answer = start < 0 ? '' : own.slice(start + '<answer>'.length, end).trim();
  return answer === '' ? null : answer;
}

/** A span that is not closed runs to the end. */
function withoutSpans(text: string, open: string, close: string): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, from)) {
    kept += text.slice(from, at);
    const end = text.indexOf(close, at + open.length);
    if (end < 0) return kept;
    from = end + close.length;
  }
  return kept + text.slice(from);
}

const ROLE = /<\|im_start\|>(\w+)/g;

/** The turns of the assistant where roles are marked; all of the text where they are not. */
function assistantTurns(text: string): string {
  const marks = [...text.matchAll(ROLE)];
  if (marks.length === 0) return text;
  // A log may begin in the middle of the assistant's turn, whose mark was part of the prompt.
  const turns = [{ role: 'assistant', from: 0, to: marks[0]!.index }];
  marks.forEach((mark, i) => {
    turns.push({ role: mark[1]!, from: mark.index + mark[0].length, to: marks[i + 1]?.index ?? text.length });
  });
  return turns
    .filter(({ role }) => role === 'assistant')
    .map(({ from, to }) => text.slice(from, to))
    .join('\n');
}
