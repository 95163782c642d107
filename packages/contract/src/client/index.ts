export * from "./client.ts";
export type { Paths, Schemas } from "./paths.ts";
