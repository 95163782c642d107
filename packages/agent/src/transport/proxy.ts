import { UserError } from "../errors/user-error.ts";

/** The variables that Node's agents read from the environment (`proxyEnv`). */
export interface ProxyEnvironment {
  readonly HTTPS_PROXY?: string;
  readonly NO_PROXY?: string;
}

/**
 * `HTTPS_PROXY` and `NO_PROXY`, in either case, for every connection of this agent. Node ignores a
 * proxy that it does not understand and connects directly, which somebody who set one did not want.
 * @throws UserError usage, without the value, which may contain a password
 */
export function proxyEnvironment(env: NodeJS.ProcessEnv = process.env): ProxyEnvironment {
  const name = (env["https_proxy"] ?? "") === "" ? "HTTPS_PROXY" : "https_proxy";
  const proxy = env[name] ?? "";
  if (proxy === "") return {};
  // Most programs also accept HOST:PORT.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  if (!URL.canParse(text) || !["http:", "https:"].includes(new URL(text).protocol))
    throw new UserError("usage", `${name} is not an http:// or https:// URL of a proxy`);
  const exceptions = env["no_proxy"] ?? env["NO_PROXY"];
  return { HTTPS_PROXY: text, ...(exceptions === undefined ? {} : { NO_PROXY: exceptions }) };
}

/** `host:port` of the proxy, for people; null if there is none. @throws UserError usage */
export function proxyHost(env: NodeJS.ProcessEnv = process.env): string | null {
  const { HTTPS_PROXY: proxy } = proxyEnvironment(env);
  return proxy === undefined ? null : new URL(proxy).host;
}
