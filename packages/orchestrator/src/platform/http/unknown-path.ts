import type { FastifyRequest } from "fastify";
import { pathOf } from "./audit-row.ts";
import { ApiError, notFound } from "./errors.ts";
import type { Route } from "./route.ts";

/** What a request gets that no route took: 405 with `Allow` where another method would do, else 404. */
export function unknownPath(routes: readonly Route[]): (request: FastifyRequest) => ApiError {
  const known = routes.map((route) => ({
    pattern: new RegExp(`^${route.path.replace(/:[A-Za-z_]+/g, "[^/]+")}$`),
    methods: route.method === "GET" ? ["GET", "HEAD"] : [route.method],
  }));
  return (request) => {
    const path = pathOf(request.url);
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
    if (methods.length === 0) return notFound("path");
    const allow = [...new Set(methods)].sort().join(", ");
    return new ApiError("method_not_allowed", `This path takes ${allow}.`, {}, { allow });
  };
}
