/** Think blocks of a turn: `<think> … </think>`. They leave the text before it is scanned for actions. */
import type { Range, Violation } from '../types.ts';

export interface Tag {
  readonly name: string;
  readonly closing: boolean;
  readonly start: number;
  readonly end: number;
}

export interface Thinking {
  /** Text of the closed block that opens the turn; null when there is none. */
  readonly thinking: string | null;
  /** Closed blocks, tags included, in order. */
  readonly blocks: readonly Range[];
  /** Indices of the tags outside all blocks. */
  readonly outside: readonly number[];
  readonly violations: readonly Violation[];
}

/**
 * `openInPrompt`: the opening tag is in the prompt, so the turn begins inside a block. A block that is never closed hides
 * nothing. A first closing tag without its opening still hides what stands before it (templates that open the block in the
 * prompt without saying so), but earns no credit.
 */
export function splitThinking(text: string, tags: readonly Tag[], openInPrompt: boolean): Thinking {
  const violations = new Set<Violation>();
  const blocks: Range[] = [];
  let opened: Range | null = openInPrompt ? { start: 0, end: 0 } : null;
  let thinking: string | null = null;
  let unpaired = false;
  for (const tag of tags) {
    if (tag.name !== 'think') continue;
    if (!tag.closing) {
      const reopened: boolean = opened !== null && opened.end === 0 && text.slice(0, tag.start).trim() === '';
      if (opened === null || reopened) opened = { start: reopened ? 0 : tag.start, end: tag.end };
      continue;
    }
    if (opened === null && (blocks.length > 0 || unpaired)) {
      violations.add('nested_tag');
      continue;
    }
    if (opened === null) {
      unpaired = true;
      violations.add('unclosed_thinking');
    } else if (blocks.length === 0 && text.slice(0, opened.start).trim() === '') {
      thinking = text.slice(opened.end, tag.start);
    }
    blocks.push({ start: opened?.start ?? 0, end: tag.end });
    opened = null;
  }
  if (opened !== null) violations.add('unclosed_thinking');
  return { thinking, blocks, outside: outsideOf(tags, blocks), violations: [...violations] };
}

function outsideOf(tags: readonly Tag[], blocks: readonly Range[]): number[] {
  const outside: number[] = [];
  let block = 0;
  tags.forEach((tag, index) => {
    while (block < blocks.length && blocks[block]!.end <= tag.start) block++;
    if (block === blocks.length || tag.start < blocks[block]!.start) outside.push(index);
  });
  return outside;
}
