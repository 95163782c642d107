import { readFileSync, realpathSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttps, request as httpsRequest, type Server } from "node:https";
import { dirname, join } from "node:path";
import react from "@vitejs/plugin-react";
import { createServer as createVite, type ViteDevServer } from "vite";
import type { DevService } from "./service.ts";

const ROOT = join(import.meta.dirname, "../..");
const DASHBOARD = join(ROOT, "packages/dashboard");

/** Stands in index.html, and in what Vite makes of it, where the page's nonce belongs. */
const NONCE_MARK = "@STYLE_NONCE@";

/** What Vite serves; all else is the service's. */
const VITE = /^\/(@|src\/|node_modules\/)/;

export interface Front {
  server: Server;
  vite: ViteDevServer;
}

/**
 * The one address of `npm run dev`: Vite's modules, and for everything else the service, which
 * decides what is a page. Its pages come with the service's own content security policy, to which
 * only Vite's script and its socket are added.
 */
export async function openFront(options: {
  service: DevService;
  servicePort: number;
  publicUrl: URL;
  /** Of the service, which its agents know. */
  tls: { key: string; cert: string; ca: string };
}): Promise<Front> {
  const { service, servicePort, publicUrl, tls } = options;
  const server = createHttps({ key: tls.key, cert: tls.cert, minVersion: "TLSv1.3" });
  const vite = await createVite({
    root: DASHBOARD,
    configFile: join(DASHBOARD, "vite.config.ts"),
    cacheDir: join(ROOT, "node_modules/.cache/vite"),
    appType: "custom",
    plugins: [react()],
    html: { cspNonce: NONCE_MARK },
    server: {
      middlewareMode: true,
      ws: { server },
      fs: { allow: [ROOT, dirname(realpathSync(join(ROOT, "node_modules/vite")))] },
    },
  });

  const pageOf = async (url: string, policy: string): Promise<{ html: string; policy: string } | null> => {
    const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
    if (nonce === undefined) return null;
    const html = await vite.transformIndexHtml(url, readFileSync(join(DASHBOARD, "index.html"), "utf8"));
    const socket = `wss://${publicUrl.host}`;
    return {
      html: html.replaceAll(NONCE_MARK, nonce),
      policy: policy
        .replace("script-src 'self'", `script-src 'self' 'nonce-${nonce}'`)
        .replace(/connect-src '(none|self)'/, (_, from) =>
          from === "none" ? `connect-src ${socket}` : `connect-src 'self' ${socket}`,
        ),
    };
  };

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await service.listens();
    const { method, headers, url = "/" } = request;
    const onward = httpsRequest(
      {
        host: "127.0.0.1",
        port: servicePort,
        servername: "localhost",
        ca: tls.ca,
        method,
        path: url,
        headers,
      },
      (answer) => void give(url, answer, response).catch((error: unknown) => fail(response, error)),
    );
    onward.on("error", (error) => fail(response, error));
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  };

  const give = async (url: string, answer: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { statusCode = 502, headers } = answer;
    const policy = headers["content-security-policy"];
    if (!headers["content-type"]?.startsWith("text/html") || typeof policy !== "string") {
      response.writeHead(statusCode, headers);
      answer.pipe(response);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const page = body.includes('id="root"') ? await pageOf(url, policy) : null;
    if (page === null) return void response.writeHead(statusCode, headers).end(body);
    const { "content-length": _, ...others } = headers;
    response.writeHead(statusCode, { ...others, "content-security-policy": page.policy }).end(page.html);
  };

  server.on("request", (request, response) => {
    if (VITE.test(request.url ?? "")) vite.middlewares(request, response);
    else pass(request, response).catch((error: unknown) => fail(response, error));
  });
  return { server, vite };
}

/** The service went away in the middle of it, as it does when it is started again. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else
    response
      .writeHead(502, { "content-type": "text/plain; charset=utf-8" })
      .end(`The service did not answer: ${error instanceof Error ? error.message : String(error)}\n`);
}
