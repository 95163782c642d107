/** Black on white, and readable when it is printed. */
export const INDEX_STYLE = `
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, "Segoe UI", "Liberation Sans", sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #999; padding-bottom: .2rem; }
.kind { margin: 0; color: #555; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: 600; border-bottom-color: #777; }
td.bad { color: #a40000; font-weight: 600; }
code { font: .88em ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.note, footer { color: #555; font-size: .92em; }
.check { border-left: 3px solid #777; padding-left: .8rem; }
li { margin-bottom: .3rem; }
@media print {
  body { margin: 0; max-width: none; font-size: 10pt; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
  tr, li { break-inside: avoid; }
}
`;
