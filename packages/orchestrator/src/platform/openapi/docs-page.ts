import type { OpenApiDocument, Operation } from "./document.ts";
import { escapeHtml as text } from "@attestore/proof";

/**
 * The documentation of the API as one page: no script, and nothing from elsewhere. Its style is at
 * `docs.css` beside it.
 */
export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return { name, description, own };
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attestore API ${text(document.info.version)}</title>
<link rel="stylesheet" href="/api/docs.css">
<header>
<h1>Attestore API <small>${text(document.info.version)}</small></h1>
<p>${inline(document.info.description)}</p>
<p>For programs: <a href="/api/openapi.json">/api/openapi.json</a> (OpenAPI 3.1).</p>
<nav aria-label="Calls"><ul>${sections.map(({ name, description, own }) => navigation(name, description, own)).join("")}</ul></nav>
</header>
<main>
${sections.map(({ name, description, own }) => `<section id="${text(name)}"><h2>${text(description)}</h2>${own.map(article).join("")}</section>`).join("\n")}
<section id="schemas"><h2>Schemas</h2>${Object.entries(document.components.schemas).map(schema).join("")}</section>
</main>
</html>
`;
}

interface Call {
  method: string;
  path: string;
  operation: Operation;
}

function navigation(name: string, description: string, calls: readonly Call[]): string {
  const links = calls.map(
    ({ method, path, operation }) =>
      `<li><a href="#${text(operation.operationId)}"><code>${method} ${text(path)}</code></a></li>`,
  );
  return `<li><a href="#${text(name)}">${text(description)}</a><ul>${links.join("")}</ul></li>`;
}

function article({ method, path, operation }: Call): string {
  const { operationId, summary, security, parameters, requestBody, responses } = operation;
  const credential = security.flatMap((option) => Object.keys(option)).join(" or ") || "none";
  const content = requestBody?.content["application/json"];
  return `<article id="${text(operationId)}">
<h3><code>${method} ${text(path)}</code></h3>
<p>${text(summary)}. Credential: ${text(credential.replaceAll("_", " "))}.</p>
${parameters.length === 0 ? "" : parameterTable(parameters)}
${content === undefined ? "" : `<h4>Body</h4>${body(content)}`}
<h4>Answers</h4>
<dl>${Object.entries(responses).map(answer).join("")}</dl>
</article>`;
}

function parameterTable(parameters: Operation["parameters"]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema: form }) =>
      `<tr><th scope="row"><code>${text(name)}</code></th><td>${place}${required ? ", required" : ""}</td>` +
      `<td>${inline(description ?? "")} <code>${text(shape(form))}</code></td></tr>`,
  );
  return `<div class="wide"><table><caption>Parameters</caption><thead><tr><th>Name</th><th>Where</th><th>Form</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function shape({ enum: values, pattern, type }: Record<string, unknown>): string {
  if (Array.isArray(values)) return values.join(" | ");
  if (typeof pattern === "string") return pattern;
  return typeof type === "string" ? type : "";
}

function answer([status, { description, content }]: [string, Operation["responses"][string]]): string {
  const [media, first] = Object.entries(content)[0] ?? ["", undefined];
  const good = status.startsWith("2") && first !== undefined;
  const shown = !good
    ? ""
    : media === "application/json"
      ? body(first)
      : `<p><code>${text(media)}</code></p>`;
  return `<dt>${text(status)}</dt><dd>${inline(description)}${shown}</dd>`;
}

function body({ schema: form, example }: { schema: Record<string, unknown>; example?: unknown }): string {
  const reference = form["$ref"];
  const name = typeof reference === "string" ? reference.slice("#/components/schemas/".length) : null;
  const link = name === null ? "" : `<p>Schema <a href="#schema-${text(name)}">${text(name)}</a></p>`;
  return `${link}<pre tabindex="0">${text(JSON.stringify(example, null, 2))}</pre>`;
}

function schema([name, form]: [string, object]): string {
  return `<article id="schema-${text(name)}"><h3>${text(name)}</h3><pre tabindex="0">${text(JSON.stringify(form, null, 2))}</pre></article>`;
}

/** Backticks in descriptions are code. */
function inline(description: string): string {
  return text(description).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
