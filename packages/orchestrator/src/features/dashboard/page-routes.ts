import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { notFound } from "../../platform/errors/api-error.ts";
import { type PageFile, readPages } from "./read-pages.ts";

/** Where `npm run dashboard` puts the build. */
export const DASHBOARD_BUILD = join(import.meta.dirname, "../../../../dashboard/dist");

/**
 * First parts of the paths that the dashboard's own router knows. For unknown paths below them the
 * dashboard shows its own "not found".
 */
const PAGES = [
  "login",
  "signup",
  "attach",
  "sources",
  "receipts",
  "backups",
  "agents",
  "auth-keys",
  "auditor-links",
  "events",
  "log",
  "commands",
  "api-logs",
  "members",
  "notifications",
  "evidence",
  "settings",
  "passkeys",
  "operator",
  "shared",
];

/**
 * A content security policy (CSP level 3). Components add their own style elements, which need the
 * page's nonce.
 */
const policy = (styleNonce: string, connect: string, form: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${styleNonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "base-uri 'none'",
    `form-action ${form}`,
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * For the page that verifies files. It tells its readers that it sends nothing, and this policy
 * makes the browser enforce that.
 */
const sendsNothing = (styleNonce: string): string => policy(styleNonce, "'none'", "'none'");

const usual = (styleNonce: string): string => policy(styleNonce, "'self'", "'self'");

/** Placeholder in index.html for the page's nonce. */
const NONCE_MARK = "@STYLE_NONCE@";

const HEADERS = {
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

/** The dashboard: its files, and its page for every path of its router. */
export function dashboardPages(directory: string = DASHBOARD_BUILD): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    const files = await readPages(directory);
    const page = (_request: FastifyRequest, reply: FastifyReply, policyWith = usual): FastifyReply => {
      const index = files.get("/index.html");
      if (index !== undefined) return sendPage(reply, index, policyWith);
      return reply
        .code(503)
        .type("text/plain; charset=utf-8")
        .send("The dashboard is not built. If the service runs from source, run: npm run dashboard\n");
    };
    app.get("/", (request, reply) => page(request, reply));
    app.get("/verify", (request, reply) => page(request, reply, sendsNothing));
    for (const name of PAGES) {
      app.get(`/${name}`, (request, reply) => page(request, reply));
      // The log's tiles have their own paths, registered below.
      if (name !== "log") app.get(`/${name}/*`, (request, reply) => page(request, reply));
    }
    for (const [path, file] of files)
      if (path !== "/index.html") app.get(path, (request, reply) => send(request, reply, file));
    // A page that was loaded before an update may ask for a file that is gone. It gets 404 and not
    // the page.
    app.get("/assets/*", () => {
      throw notFound("path");
    });
  };
}

/** Each answer has a nonce of its own: somebody who gets markup into a page cannot know it. */
function sendPage(
  reply: FastifyReply,
  index: PageFile,
  policyWith: (styleNonce: string) => string,
): FastifyReply {
  const nonce = randomBytes(18).toString("base64");
  return reply
    .headers(HEADERS)
    .header("content-security-policy", policyWith(nonce))
    .header("cache-control", "no-store")
    .type(index.type)
    .send(index.bytes.toString().replace(NONCE_MARK, nonce));
}

function send(request: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  const brotli = takesBrotli(request) ? file.brotli : undefined;
  return reply
    .headers(HEADERS)
    .header("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
    .header("cache-control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache")
    .header("vary", "accept-encoding")
    .headers(brotli === undefined ? {} : { "content-encoding": "br" })
    .type(file.type)
    .send(brotli ?? file.bytes);
}

/** RFC 9110 section 12.5.3, as far as it concerns brotli. */
function takesBrotli(request: FastifyRequest): boolean {
  const accepted = request.headers["accept-encoding"] ?? "";
  return accepted.split(",").some((coding) => /^\s*br\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}
