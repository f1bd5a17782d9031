/** The report's only style sheet: light and dark, wide and narrow, screen and print. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fdfdfb;--text:#1c1c1a;--soft:#5f5e58;--hair:#dddbd3;--shade:#f1efe8;--warn:#8a4b08;
--ink:#2b2b28;--c0:#b5421c;--c1:#14619e;--c2:#2c7a4b;--c3:#7a4a94;--teal:#0f766e;--ochre:#b07a10;--rose:#b32654;--slate:#6b7280;--violet:#6d4bb3;
--p0:#dbe6ee;--p1:#a9c5da;--p2:#5f93b8;--p3:#285f88;--q0:#1c1c1a;--q1:#1c1c1a;--q2:#fff;--q3:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#161614;--text:#e8e6df;--soft:#a3a199;--hair:#3a3934;--shade:#21201d;--warn:#e8b066;
--ink:#d6d4cc;--c0:#f0835a;--c1:#6cb2ea;--c2:#6cc08b;--c3:#c295dd;--teal:#4fc4b8;--ochre:#e0b04c;--rose:#f07a9f;--slate:#9aa3b2;--violet:#b39af0;
--p0:#23313b;--p1:#30506a;--p2:#4c81a8;--p3:#93c3e6;--q0:#e8e6df;--q1:#e8e6df;--q2:#fff;--q3:#161614}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.55 Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif}
main{max-width:1160px;margin:0 auto;padding:40px 24px 72px}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .3rem;font-weight:600}
h2{font-size:1.2rem;margin:3rem 0 .4rem;padding-top:.9rem;border-top:1px solid var(--hair);font-weight:600}
h3{font-size:1rem;margin:1.6rem 0 .2rem;font-weight:600}
p,ul{max-width:74ch;margin:.5rem 0}
ul{padding-left:1.2rem}
.meta,.soft,.tab figcaption,.none{color:var(--soft)}
.meta{margin:0 0 1.2rem}
.warn,.calm{border-left:3px solid var(--hair);padding:.1rem 0 .1rem .9rem;margin:1rem 0}
.warn{border-color:var(--warn)}
.warn p{margin:.35rem 0}
code,pre{font:13px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--shade);padding:.7rem .9rem;margin:.5rem 0;max-height:26rem;overflow:auto}
code{overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:1.2rem 1.6rem;margin:1rem 0}
.row.two{grid-template-columns:repeat(auto-fill,minmax(min(100%,430px),1fr))}.row.two svg{max-width:540px}
.chart{margin:0;min-width:0}
.chart figcaption{font-size:.9rem;font-weight:600;margin-bottom:.15rem}
.chart svg{display:block;width:100%;height:auto;max-width:460px;font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.tick{font-size:11px;fill:var(--soft)}
.name{font-size:11px;font-weight:600;stroke:none}
.grid{stroke:var(--hair);stroke-width:.8}
.axis{stroke:var(--soft);stroke-width:1}
.rule{stroke:var(--soft);stroke-width:.8;stroke-dasharray:2 3}
.shade{fill:var(--shade)}
.line{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}
.faint{stroke-width:1;opacity:.42}
.whisker{stroke-width:1.4;opacity:.55}
.band{opacity:.15;stroke:none}
.dot{stroke:var(--paper);stroke-width:1}
.part{stroke:var(--paper);stroke-width:.8}
.part-name{font-size:10.5px}
${['ink', 'c0', 'c1', 'c2', 'c3', 'teal', 'ochre', 'rose', 'slate', 'violet']
  .map(
    (ink) =>
      `.line.${ink},.whisker.${ink}{stroke:var(--${ink})}.band.${ink},.dot.${ink},.name.${ink}{fill:var(--${ink})}.key.${ink}{background:var(--${ink})}`,
  )
  .join('\n')}
${[0, 1, 2, 3].map((p) => `.p${p}{fill:var(--p${p})}.q${p}{fill:var(--q${p})}`).join('')}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font:13px/1.5 system-ui,sans-serif;color:var(--soft);margin:.4rem 0;padding:0;list-style:none;max-width:none}
.key{display:inline-block;width:16px;height:3px;vertical-align:middle;margin-right:.4rem}
.key.area{height:11px;background:var(--shade);border:1px solid var(--hair)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font:13px/1.4 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-variant-numeric:tabular-nums}
.tab{margin:1.1rem 0;min-width:0}
.tab figcaption{font:13.5px/1.45 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;max-width:74ch;margin-bottom:.35rem}
th{font-weight:600;border-top:1.5px solid var(--text);border-bottom:1px solid var(--text);vertical-align:bottom}
th,td{padding:.22rem .7rem .22rem 0;white-space:nowrap;text-align:left}
.n{text-align:right}
td.n small{color:var(--soft);font-size:.85em}
tbody tr:last-child td{border-bottom:1.5px solid var(--text)}
sub{font-size:.7em;line-height:0}
.case{border-top:1px solid var(--hair);padding:.7rem 0}
.cases{gap:0 1.6rem}
.case p{margin:.1rem 0}
.case .q{unicode-bidi:isolate;font-weight:600;overflow-wrap:anywhere}
bdi{overflow-wrap:anywhere}
.false{color:var(--rose)}.true{color:var(--teal)}
summary{cursor:pointer;color:var(--soft);font-size:.9rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.6rem 0;font-size:.92rem;max-width:74ch}
dd{margin:0;color:var(--soft)}
@media (max-width:560px){body{font-size:15px}main{padding:22px 14px 48px}h1{font-size:1.4rem}.row.two .tick,.row.two .name{font-size:13px}}
@media print{.scroll,pre{overflow:visible;max-height:none}main{padding:0}}
`;
