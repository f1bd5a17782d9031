/** The judge, with judges of known character (fake-judge.ts). */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { judgeAuditor, predictionsOf } from '../../src/auditor/judge/judge.ts';
import { askVerdicts } from '../../src/auditor/judge/prompt.ts';
import { quotes } from '../../src/auditor/judge/quote.ts';
import { selfTest } from '../../src/auditor/judge/self-test.ts';
import type { AuditQuestion } from '../../src/auditor.ts';
import type { Chat, ChatRequest } from '../../src/chat.ts';
import { askAll } from '../../src/matcher/judge/ask.ts';
import { cachedChat } from '../../src/matcher/judge/cache.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { folder } from '../store/folder.ts';
import { alwaysYes, callOf, clumsy, fakeJudge, goodReply, verbose } from './fake-judge.ts';

const TEXTS: Readonly<Record<string, string>> = {
  a: 'Notes. The tram is in Oslo since 1921.',
  b: 'The mill  is in\nLeeds and still turns.',
};

const item = (source: string, thing: string, label: string, responses: readonly (string | null)[]): AuditQuestion => ({
  question: `Where is the ${thing}?`,
  source,
  label,
  responses,
});
const ITEMS = [
  item('a', 'tram', 'Oslo', ['in Oslo', 'Bergen', null, 'perhaps Oslo']),
  item('b', 'mill', 'York', ['York', 'Leeds', 'leeds.', ' ']),
  item('a', 'ship', 'Oslo', ['Oslo']),
  item('z', 'tram', 'Oslo', ['Oslo']),
];

const VERDICTS = [
  { resolved: true, reference: 'Oslo', labelCorrect: true, responseCorrect: [true, false, false, null] },
  { resolved: true, reference: 'Leeds', labelCorrect: false, responseCorrect: [false, true, true, false] },
  { resolved: false, why: 'the source does not settle the question' },
  { resolved: false, why: 'no text of the source' },
];

const judge = (chat: Chat, items: readonly AuditQuestion[] = ITEMS) =>
  judgeAuditor({ chat, sourceText: (source) => TEXTS[source] ?? null }).judge(items);

/** "The mill is in" stands there with other white space. */
const loose = (request: ChatRequest): string => {
  const call = callOf(request);
  if (call.kind !== 'reference' || !call.question.includes('mill')) return goodReply(request);
  return JSON.stringify({ answer: 'Leeds', evidence: 'The mill is in Leeds' });
};

describe('judge', () => {
  it.each([
    ['good', loose],
    ['verbose', (r: ChatRequest) => verbose(r).replace(goodReply(r), loose(r))],
    ['clumsy at first', (r: ChatRequest) => (clumsy(r).startsWith('{') ? loose(r) : clumsy(r))],
  ])('that is %s gives verdicts, and leaves open what it cannot support', async (_, say) => {
    expect(await judge(fakeJudge(say))).toEqual(VERDICTS);
  });

  it('that is slow gives the same ones', async () => {
    const fake = fakeJudge(loose);
    const slow: Chat = {
      name: 'slow',
      async reply(requests) {
        await new Promise((done) => setTimeout(done, 5));
        return fake.reply(requests);
      },
    };
    expect(await judge(slow)).toEqual(VERDICTS);
  });

  it('must quote the source, or its reference does not count', async () => {
    const inventing = (request: ChatRequest): string =>
      callOf(request).kind === 'reference'
        ? '{"answer": "Rome", "evidence": "The tram is in Rome"}'
        : goodReply(request);
    expect(await judge(fakeJudge(inventing), ITEMS.slice(0, 1))).toEqual([
      { resolved: false, why: 'the evidence quoted is not in the source' },
    ]);
  });

  it('that is malformed twice leaves the question open', async () => {
    const fake = fakeJudge(() => 'no idea {"verdict":');
    expect(await judge(fake, ITEMS.slice(0, 1))).toEqual([
      { resolved: false, why: 'the judge gave no readable reference' },
    ]);
    expect(fake.asked).toHaveLength(2);
    const half = fakeJudge((r) => (callOf(r).kind === 'reference' ? goodReply(r) : '{"verdicts": []}'));
    expect(await judge(half, ITEMS.slice(0, 1))).toEqual([
      { resolved: false, why: 'the judge gave no readable verdict' },
    ]);
  });

  it('that is away gives no verdict', async () => {
    await expect(judge(fakeJudge(goodReply, () => true))).rejects.toThrow(InfraError);
    await expect(judge(fakeJudge(goodReply, (i) => i === 3))).rejects.toThrow(/fake: HTTP 503/);
  });

  it('is shown label and responses as one list, each answer once, in an order of the question alone', async () => {
    const fake = fakeJudge(loose);
    await judge(fake, ITEMS.slice(1, 2));
    const call = fake.asked.map(callOf).find(({ kind }) => kind === 'grade');
    expect(call).toMatchObject({ gold: 'Leeds' });
    const texts = call?.kind === 'grade' ? call.predictions.map(({ text }) => text) : [];
    expect(texts.toSorted()).toEqual(['York', 'leeds.']);
    // Which of them is the label changes nothing in what is sent.
    const swapped = { ...ITEMS[1]!, label: 'leeds.', responses: ['York', 'York', 'Leeds'] };
    expect(predictionsOf(swapped)).toEqual(predictionsOf(ITEMS[1]!));
    // The label is not always at one place.
    const places = Array.from({ length: 40 }, (_, i) =>
      predictionsOf(item('a', `thing${i}`, 'L', ['p', 'q', 'r'])).findIndex(({ key }) => key === 'l'),
    );
    expect(new Set(places).size).toBe(4);
  });
});

describe('the self-test', () => {
  // Case c43: the call {gold, prediction} and the same with its arguments swapped.
  const both = { auditor: true, matcher: true };
  test('passes judges that read their arguments by name', async () => {
    await selfTest(fakeJudge(goodReply), both);
    await selfTest(fakeJudge(verbose), both);
    await selfTest(fakeJudge(clumsy), both);
  });
  test('refuses one that says yes to everything, with what it said', async () => {
    const refused = selfTest(fakeJudge(alwaysYes), { auditor: true, matcher: false });
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(/expected no, it gives yes. It said: .*correct/);
    await expect(selfTest(fakeJudge(alwaysYes), { auditor: false, matcher: true })).rejects.toThrow(/1777/);
  });
  test('refuses one whose arguments arrive swapped', async () => {
    const swapping = (request: ChatRequest): string => {
      const call = callOf(request);
      if (call.kind !== 'grade') return goodReply(request);
      const messages = [
        {
          role: 'user' as const,
          content: JSON.stringify({
            ...call,
            gold: call.predictions[0]!.text,
            predictions: [{ id: 1, text: call.gold }],
          }),
        },
      ];
      return goodReply({ ...request, messages });
    };
    await expect(selfTest(fakeJudge(swapping), both)).rejects.toThrow(/expected yes, it gives no/);
  });
  test('refuses gibberish, and an outage is no failure of the judge', async () => {
    await expect(
      selfTest(
        fakeJudge(() => 'yes'),
        both,
      ),
    ).rejects.toThrow(/no verdict. It said: "yes"/);
    await expect(
      selfTest(
        fakeJudge(goodReply, () => true),
        both,
      ),
    ).rejects.toThrow(InfraError);
  });

  const CASES = new URL('../../../shared/cases/cases.jsonl', import.meta.url);
  const cases = existsSync(CASES)
    ? readFileSync(CASES, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"judge_args"'))
        .map((line) => JSON.parse(line))
    : [];
  if (cases.length === 0) console.log(`skipped: no shared cases at ${CASES.pathname}`);
  test.each(cases)('$id: named arguments whose verdict flips when they are swapped', async ({ input }) => {
    const fake = fakeJudge(goodReply);
    const verdict = async ({ gold, prediction }: { gold: string; prediction: string }) =>
      (await askAll(fake, [askVerdicts({ question: 'Which river?', gold, predictions: [prediction] })]))[0];
    expect(await verdict(input.call)).toEqual([true]);
    expect(await verdict(input.swapped)).toEqual([false]);
    // The pair of the case is the one that is sent at start.
    const probe = fakeJudge(goodReply);
    await selfTest(probe, { auditor: true, matcher: false });
    const sent = probe.asked.map(callOf).map((call) => call.kind === 'grade' && [call.gold, call.predictions[0]!.text]);
    expect(sent).toEqual([
      [input.call.gold, input.call.prediction],
      [input.swapped.gold, input.swapped.prediction],
    ]);
  });
});

describe('kept replies', () => {
  it('make an interrupted audit go on and a finished one free; the cost is counted once', async () => {
    const dir = folder();
    const broken = await cachedChat(
      fakeJudge(loose, (i) => i === 3),
      dir,
    );
    await expect(judge(broken)).rejects.toThrow(InfraError);
    await broken.close();
    // All but the one that failed are kept; a crash tears the line that was being written.
    appendFileSync(join(dir, 'replies.jsonl'), '{"key":"torn');

    const fake = fakeJudge(loose);
    const second = await cachedChat(fake, dir);
    expect(await judge(second)).toEqual(VERDICTS);
    expect(fake.asked).toHaveLength(1);
    expect(second.cost()).toEqual({ requests: 5, cached: 4, unreadable: 0, promptTokens: 500, completionTokens: 50 });
    await second.close();

    const unused = fakeJudge(() => 'never asked');
    const third = await cachedChat(unused, dir);
    expect(await judge(third)).toEqual(VERDICTS);
    expect(unused.asked).toHaveLength(0);
    expect(third.cost()).toMatchObject({ requests: 5, cached: 5 });
    await third.close();
  });

  it('that cannot be read serve for one session, and are asked for again by the next', async () => {
    const dir = folder();
    // Unreadable about the mill, whether asked once or corrected.
    const broken = fakeJudge((request) => {
      const call = callOf(request);
      return call.kind === 'reference' && call.question.includes('mill') ? '<b>busy</b>' : loose(request);
    });
    const first = await cachedChat(broken, dir);
    const unread = [
      VERDICTS[0],
      { resolved: false, why: 'the judge gave no readable reference' },
      ...VERDICTS.slice(2),
    ];
    expect(await judge(first)).toEqual(unread);
    const asked = broken.asked.length;
    expect(await judge(first)).toEqual(unread);
    expect(broken.asked).toHaveLength(asked);
    expect(first.cost()).toMatchObject({ requests: 2 * asked, cached: asked, unreadable: 4 });
    await first.close();
    const lines = readFileSync(join(dir, 'replies.jsonl'), 'utf8').trim().split('\n');
    expect(lines.filter((line) => line.startsWith('{"key":"unreadable/') && line.includes('busy'))).toHaveLength(2);

    const mended = fakeJudge(loose);
    const second = await cachedChat(mended, dir);
    expect(await judge(second)).toEqual(VERDICTS);
    expect(mended.asked.map((request) => callOf(request).kind)).toEqual(['reference', 'grade']);
    await second.close();
  });

  it('are of one process at a time', async () => {
    const dir = folder();
    const first = await cachedChat(fakeJudge(goodReply), dir);
    await expect(cachedChat(fakeJudge(goodReply), dir)).rejects.toThrow(UserError);
    await first.close();
  });
});

test.each([
  ['The tram is in Oslo.', 'the TRAM  is in\n Oslo', true],
  ['It said “no – never”.', 'said "no - never"', true],
  ['The tram is in Oslo.', 'The tram is in Bergen', false],
  ['The tram is in Oslo.', 'is in', false],
  ['The tram is in Oslo.', '', false],
  ['Oslo', 'oslo', true],
])('%j holds %j: %s', (text, evidence, expected) => {
  expect(quotes(text, evidence)).toBe(expected);
});
