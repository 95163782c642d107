import type { FastifyRequest, RouteOptions } from "fastify";
import { pathOf } from "./api-log/api-log-row.ts";
import { ApiError, notFound } from "../errors/api-error.ts";

/** The mounted routes, to say which other methods a path accepts. */
export class KnownPaths {
  readonly #known: { pattern: RegExp; methods: string | string[] }[] = [];

  add({ url, method }: Pick<RouteOptions, "url" | "method">): void {
    const pattern = url
      .split(/(:[A-Za-z_]+|\*)/)
      .map((part) => (part === "*" ? ".*" : part.startsWith(":") ? "[^/]+" : RegExp.escape(part)))
      .join("");
    this.#known.push({ pattern: new RegExp(`^${pattern}$`), methods: method });
  }

  /**
   * The answer to a request without a route: 405 with `Allow` if another method would work,
   * otherwise 404.
   */
  refuse(request: FastifyRequest): ApiError {
    const path = pathOf(request.url);
    const methods = this.#known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
    if (methods.length === 0) return notFound("path");
    const allow = [...new Set(methods)].sort().join(", ");
    return new ApiError("method_not_allowed", `This path takes ${allow}.`, {}, { allow });
  }
}
