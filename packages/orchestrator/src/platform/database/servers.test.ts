import { expect, test } from "vitest";
import { parseServers } from "./servers.ts";

test.each([
  ["postgresql://u:p@one:5432/db", ["postgresql://u:p@one:5432/db"], false],
  ["postgresql://u@one/db?sslmode=require", ["postgresql://u@one/db?sslmode=require"], false],
  [
    "postgresql://u@one/db?target_session_attrs=any&sslmode=require",
    ["postgresql://u@one/db?sslmode=require"],
    false,
  ],
  ["postgresql://u@one/db?target_session_attrs=read-write", ["postgresql://u@one/db"], true],
  [
    "postgresql://u:p%40,x@one:1,[::1]:2,three/db?sslmode=verify-full&target_session_attrs=primary",
    [
      "postgresql://u:p%40,x@one:1/db?sslmode=verify-full",
      "postgresql://u:p%40,x@[::1]:2/db?sslmode=verify-full",
      "postgresql://u:p%40,x@three/db?sslmode=verify-full",
    ],
    true,
  ],
  ["postgres://one,two", ["postgres://one", "postgres://two"], true],
])("%s names its servers", (url, urls, mustAsk) => {
  expect(parseServers(url)).toMatchObject({ urls, mustAsk });
});

test.each([
  ["postgresql://u@one,two/db?target_session_attrs=standby", "accept writes"],
  ["postgresql://u@one/db?target_session_attrs=prefer-standby", "accept writes"],
  ["postgresql:///db?host=one,two", "before its path"],
])("%s is refused", (url, reason) => {
  expect(() => parseServers(url)).toThrow(reason);
});
