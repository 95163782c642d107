import * as contract from "@attestore/contract";
import { docsPage } from "../../platform/openapi/docs-page.ts";
import { DOCS_STYLE } from "../../platform/openapi/docs-style.ts";
import { openApiDocument, type OpenApiDocument } from "../../platform/openapi/document.ts";
import { fileRoute, type Route } from "../../platform/http/route/route.ts";
import packageJson from "../../../package.json" with { type: "json" };

const SECURITY = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** The API's description of itself, for programs and for people. */
export function withApiDocs(routes: readonly Route[], publicUrl: string): Route[] {
  const all: Route[] = [...routes, ...documentRoutes(() => documentOf(all, publicUrl))];
  return all;
}

export function documentOf(routes: readonly Route[], publicUrl: string): OpenApiDocument {
  return openApiDocument(routes, contract, { url: publicUrl, version: packageJson.version });
}

function documentRoutes(document: () => OpenApiDocument): Route[] {
  // Made once, on the first request.
  const page = once(() => Buffer.from(docsPage(document())));
  const json = once(() => Buffer.from(JSON.stringify(document())));
  const file = (path: string, summary: string, type: string, content: () => Buffer): Route =>
    fileRoute({
      method: "GET",
      path,
      summary,
      action: "service.read",
      credential: "anonymous",
      answers: { 200: type },
      rateLimits: ["default"],
      handle: () =>
        Promise.resolve({ status: 200, headers: { "content-type": type, ...SECURITY }, content: content() }),
    });
  return [
    file("/api/openapi.json", "This API as OpenAPI 3.1", "application/json; charset=utf-8", json),
    file("/api/docs", "This API as a page to read", "text/html; charset=utf-8", page),
    file("/api/docs.css", "The page's style", "text/css; charset=utf-8", () => Buffer.from(DOCS_STYLE)),
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
