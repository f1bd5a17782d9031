/** Readable text of reStructuredText: rules, directives and inline mark-up go, the words stay. */
import { decoded, notUtf8, type Parse, withoutTitle } from './document.ts';
import { rstTitle } from './title.ts';

const rule = /^([!-/:-@[-`{-~])\1{2,}[ \t]*$/;
/** Directives whose argument is a language, a file or a name, and no text. */
const bare =
  /^[ \t]*\.\.[ \t]+(?:code|code-block|sourcecode|highlight|raw|include|literalinclude|image|figure|toctree|currentmodule)::.*$/;
const directive = /^[ \t]*\.\.[ \t]+[\w-]+::[ \t]*/;

export const rstDocument: Parse = (bytes, report) => {
  const raw = decoded(bytes, report);
  if (raw === undefined) return notUtf8;
  return withoutTitle({ title: rstTitle(raw), text: rstText(raw) });
};

function rstText(raw: string): string {
  const lines = raw.split('\n').filter((line) => !rule.test(line) && !/^[ \t]*:[\w-]+:[ \t]*$/.test(line));
  return lines
    .map((line) => inline(line.replace(bare, '').replace(directive, '')))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
}

/** Roles, links, literals and emphasis leave their text. */
const inline = (line: string): string =>
  line
    .replace(/:[\w.-]{1,40}:(?=`)/g, '')
    .replace(/`([^`<>]{1,300}?)\s*<[^`<>]{1,500}>`_{0,2}/g, '$1')
    .replace(/``([^`]{1,300})``/g, '$1')
    .replace(/`([^`]{1,300})`_{0,2}/g, '$1')
    .replace(/\*\*([^*]{1,300})\*\*/g, '$1')
    .replace(/(?<![\w*])\*([^*\s][^*]{0,300})\*(?![\w*])/g, '$1');
