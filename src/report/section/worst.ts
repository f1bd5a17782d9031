/** The worst false agreements, with what their sources say. All of it is untrusted text. */
import type { FalseAgreement } from '../../recipe/audit/worst.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { isShared } from '../../recipe/systems.ts';
import { count } from '../format.ts';
import { type Html, html, htmlLines } from '../markup.ts';
import { shortened, visibleLines } from '../visible.ts';

/** Text of a source; empty or null when it is not at hand. */
export type SourceText = (id: string) => string | null | Promise<string | null>;

const SHOWN = 24;
const LONGEST_SOURCE = 3000;

export async function worstSection({ falseAgreements }: AuditReport, sourceText: SourceText): Promise<Html> {
  const shown = falseAgreements.slice(0, SHOWN);
  const cases: Html[] = [];
  for (const found of shown) cases.push(caseOf(found, (await sourceText(found.source)) ?? ''));
  const rest = falseAgreements.length - shown.length;
  return html`<h2>Worst false agreements</h2>
<p>Questions whose label is wrong and whose graders gave that same wrong answer, most agreeing responses first
(${count(falseAgreements.length)} in all).</p>
${cases.length === 0 ? html`<p class="none">There is none.</p>` : html`<div class="row two cases">${cases}</div>`}
${rest > 0 ? html`<p class="soft">${count(rest)} more: crossfold show RUN --rollouts --outcome false-agreement</p>` : null}`;
}

const caseOf = (found: FalseAgreement, text: string): Html => html`<div class="case">
<p class="q">${shortened(found.question, 600)}</p>
<p>label <bdi class="false">${shortened(found.label, 200)}</bdi>, reference <bdi class="true">${shortened(found.reference, 200)}</bdi>;
${found.agreeing} of ${found.responses} responses agree with the label</p>
<p class="soft">${isShared(found.system) ? `${found.system} round` : found.system}, <code>${found.key}</code>, ${found.hops} hop${found.hops === 1 ? '' : 's'}, met in ${found.times} step${found.times === 1 ? '' : 's'}, grader <code>${shortened(found.grader, 24)}</code></p>
<details><summary>source <bdi>${shortened(found.source, 120)}</bdi></summary><pre>${text === '' ? 'not at hand' : htmlLines(visibleLines(shortened(text, LONGEST_SOURCE)))}</pre></details></div>`;
