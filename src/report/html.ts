/**
 * report.html: one file that stands by itself (no script, no request), to be put beside a paper. It is a rendering of the audit;
 * model output and documents in it are untrusted and escaped.
 */
import type { AuditReport } from '../recipe/audit.ts';
import type { RunReader } from '../store/read.ts';
import { count, large } from './format.ts';
import { type Html, html, sentence, symbol } from './markup.ts';
import { pageHtml } from './page.ts';
import { bankSection } from './section/bank.ts';
import { examSection } from './section/exam.ts';
import { configSection, costSection, graderSection } from './section/record.ts';
import { roundFigures, roundTables } from './section/rounds.ts';
import { auditCurves, trainingCurves } from './section/steps.ts';
import { type SourceText, worstSection } from './section/worst.ts';
import { caveats, findings, NO_WARNING, SYMBOLS, warningSentences } from './words.ts';

/** `sourceText` gives the text that a question was written from. */
export async function reportHtml(report: AuditReport, reader: RunReader, sourceText: SourceText): Promise<string> {
  return pageHtml(
    report.setup.systems.join(', '),
    html`${header(report, await times(reader))}
${roundFigures(report)}
${roundTables(report)}
${auditCurves(report)}
${trainingCurves(report)}
${examSection(report)}
${bankSection(report)}
${await worstSection(report, sourceText)}
${graderSection(report)}
${costSection(report)}
${configSection(report)}`,
  );
}

function header(report: AuditReport, when: string): Html {
  const { setup, seed, recipe, auditor, codeVersion } = report;
  const size = setup.parameters === null ? '' : `, ${large(setup.parameters)} parameters`;
  const warnings = warningSentences(report);
  return html`<h1>${setup.systems.join(' and ')}</h1>
<p class="meta">${recipe} in ${setup.task}${size}; ${setup.rounds} rounds, seed ${seed}; ${count(setup.sources)} sources, ${count(setup.gold)} gold questions;
audited by ${auditor}. Crossfold ${codeVersion}${when}.</p>
<div class="${warnings.length === 0 ? 'calm' : 'warn'}">${warnings.length === 0 ? html`<p>${NO_WARNING}</p>` : warnings.map((text) => html`<p>${sentence(text)}</p>`)}</div>
<ul>${[...findings(report), ...caveats(report)].map((text) => html`<li>${sentence(text)}</li>`)}</ul>
<dl>${SYMBOLS.map(([name, meaning]) => html`<dt>${name.includes('/') ? html`<i>${name}</i>` : symbol(name)}</dt><dd>${meaning}</dd>`)}</dl>`;
}

/** First and last line of the journal. */
async function times(reader: RunReader): Promise<string> {
  const keys = reader.keys();
  const stamps: string[] = [];
  for (const key of [keys[0], keys.at(-1)]) {
    if (key === undefined) continue;
    for await (const { at } of reader.events(key)) {
      stamps.push(`${at.slice(0, 10)} ${at.slice(11, 16)}`);
      break;
    }
  }
  return stamps.length < 2 ? '' : `; ${stamps[0]} to ${stamps[1]} UTC`;
}
