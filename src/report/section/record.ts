/** For the record: who graded, what it cost, and the settings. */
import { stringify } from 'yaml';
import type { CostRow } from '../../recipe/audit/cost.ts';
import type { GraderAudit } from '../../recipe/audit/graders.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { leadsShared, sharedOf } from '../../recipe/systems.ts';
import { idleShare, sumTimes } from '../../recipe/time.ts';
import { askedIn } from '../../train/judged.ts';
import { addUsage, NO_USAGE } from '../../train/usage.ts';
import { count, DASH, duration, judgeRequests, large, share } from '../format.ts';
import { type Content, type Html, html, htmlLines, htmlTable, numeric } from '../markup.ts';
import { shortened } from '../visible.ts';

export function graderSection({ graders, setup }: AuditReport): Html {
  const columns = [
    { head: 'system' },
    numeric('round'),
    { head: 'grader' },
    { head: 'policy' },
    ...['questions', 'sources', 'ancestry', 'overlap'].map(numeric),
  ];
  // Round 1 is the same row for every system.
  const distinct = graders.filter(
    ({ round, system, phase }) => round > 1 || phase === 'auxiliary' || leadsShared(setup.systems, system),
  );
  const rows = (phase: GraderAudit['phase'][]) => distinct.filter((g) => phase.includes(g.phase)).map(graderRow);
  return html`<h2>Lineage of the graders</h2>
<p>Ancestry: sources whose labels trained the grader or a policy it comes from. Overlap: sources of the questions it graded that are in its ancestry;
a plan that promises exclusion must have 0 in proposer steps.</p>
${htmlTable(columns, rows(['proposer']), 'Who graded the proposer.')}
${htmlTable(columns, rows(['solver', 'auxiliary']), 'Who answered in its own training. A source that comes back is in the ancestry by then, under every plan.')}`;
}

function graderRow({
  system,
  round,
  phase,
  role,
  policies,
  questions,
  sources,
  ancestry,
  overlap,
}: GraderAudit): Content[] {
  const first = html`<code>${shortened(policies[0]!, 14)}</code>`;
  const policy = policies.length === 1 ? first : html`${first} and ${policies.length - 1} later`;
  const of = (n: number | null): Content => (n === null ? 'unknown' : count(n));
  return [
    round === 1 ? systemOfRow(system, phase) : system,
    round,
    role,
    policy,
    count(questions),
    count(sources),
    of(ancestry),
    overlap === 0 ? html`<b>0</b>` : of(overlap),
  ];
}

const systemOfRow = (system: string, phase: GraderAudit['phase']): string =>
  phase === 'auxiliary' ? system : sharedOf(system);

export function costSection({ cost }: AuditReport): Html {
  const total: CostRow = {
    system: 'in all',
    round: 0,
    phase: 'solver',
    steps: cost.reduce((sum, { steps }) => sum + steps, 0),
    ...sumTimes(cost),
    usage: cost.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    ...askedIn(cost),
    responses: null,
  };
  // Runs without a judge have no column of it.
  const asked = total.judged > 0;
  const rowOf = (row: CostRow, round: string, phase: string): Content[] => [
    ...costRow(row, round, phase),
    ...(asked ? [judgeRequests(row)] : []),
  ];
  const rows = [...cost.map((row) => rowOf(row, String(row.round), row.phase)), rowOf(total, '', '')];
  return html`<h2>Cost</h2>
${htmlTable(
  [
    { head: 'system' },
    numeric('round'),
    { head: 'phase' },
    ...['steps', 'time', 'engine idle', 'sampled', 'prefilled', 'trained', 'rollouts a prompt'].map(numeric),
    ...(asked ? ['judge requests'].map(numeric) : []),
  ],
  rows,
  'Tokens and time of the run, each thing once; engine idle: share of the time in which it had nothing to do. Rollouts a prompt: feedback rollouts per proposer prompt, or responses per question of a solver.',
)}`;
}

const costRow = ({ system, steps, usage, responses, ...time }: CostRow, round: string, phase: string): Content[] => [
  system,
  round,
  phase,
  count(steps),
  duration(time.ms),
  share(idleShare(time), 2),
  large(usage.sampled),
  large(usage.prefilled),
  large(usage.trained),
  responses === null ? DASH : responses.toFixed(2),
];

export function configSection({ config, setup, recipe, codeVersion, dir }: AuditReport): Html {
  const lines = stringify(
    { recipe, codeVersion, folder: dir, engine: setup.engine, base: setup.base, config },
    { lineWidth: 0 },
  );
  return html`<h2>Settings</h2><pre>${htmlLines(lines.trimEnd().split('\n'))}</pre>`;
}
