/** The frame of a report: one HTML file that stands by itself, without script or request. */
import { type Html, html, raw } from './markup.ts';
import { STYLE } from './style.ts';

export const pageHtml = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark"><title>${title} · Crossfold</title>
<style>${raw(STYLE)}</style></head><body><main>
${body}
</main></body></html>
`.html;
