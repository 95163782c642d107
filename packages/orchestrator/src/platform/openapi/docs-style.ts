/** The style of the documentation page; colours follow the reader's system. */
export const DOCS_STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 64rem; padding: 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; }
article { border-bottom: 1px solid var(--line); padding-bottom: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
pre, .wide { background: var(--soft); overflow-x: auto; padding: 0.75rem; }
pre { max-height: 24rem; }
table { border-collapse: collapse; width: 100%; }
caption { font-weight: bold; text-align: left; }
th, td { border-top: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
nav ul { padding-left: 1.25rem; }
dt { font-weight: bold; }
`;
