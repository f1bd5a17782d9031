/** HTML as values: what `html` puts into a template is escaped unless it is HTML itself. */
import { visible } from './visible.ts';

/** Made by `html` and `raw` alone. A class, since JSON of a run may look like any interface. */
export class Html {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

export type Content = Html | string | number | null | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe in text and in quoted attributes. Characters that hide or turn the direction of writing become visible. */
const escapeHtml = (text: string): string => visible(text).replace(/[&<>"']/g, (char) => ENTITIES[char]!);

const render = (content: Content): string => {
  if (content === null) return '';
  if (typeof content === 'string') return escapeHtml(content);
  if (typeof content === 'number') return String(content);
  return content instanceof Html ? content.html : content.map(render).join('');
};

export const html = (parts: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(parts.map((part, i) => part + (i < contents.length ? render(contents[i]!) : '')).join(''));

/** Text that is HTML already: ours, never a model's or a document's. */
export const raw = (text: string): Html => new Html(text);

/** Lines of text that keep their breaks, for `<pre>`. */
export const htmlLines = (lines: readonly string[]): Html => raw(lines.map(escapeHtml).join('\n'));

export interface HtmlColumn {
  readonly head: Content;
  readonly numeric?: boolean;
}

export const numeric = (head: Content): HtmlColumn => ({ head, numeric: true });

/** Scrolls sideways by itself on narrow screens. */
export const htmlTable = (columns: readonly HtmlColumn[], rows: readonly (readonly Content[])[], caption: Content) => {
  const kind = (c: number): Html => html`${columns[c]!.numeric ? 'n' : 't'}`;
  return html`<figure class="tab"><figcaption>${caption}</figcaption><div class="scroll"><table>
<thead><tr>${columns.map(({ head }, c) => html`<th class="${kind(c)}" scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, c) => html`<td class="${kind(c)}">${cell}</td>`)}</tr>\n`)}</tbody></table></div></figure>`;
};

/** T_P as T with a subscript. */
export const symbol = (name: string): Content => {
  const [letter, index] = name.split('_');
  return index === undefined ? html`<i>${name}</i>` : html`<i>${letter!}</i><sub>${index}</sub>`;
};

/** A sentence in which T_P and T_S stand as symbols. */
export const sentence = (text: string): Content =>
  text.split(/(T_[PS])/).map((part, i) => (i % 2 === 1 ? symbol(part) : part));
