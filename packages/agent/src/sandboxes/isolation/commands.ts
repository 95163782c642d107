/**
 * Hidden commands with which our own program does its part inside a sandbox; see
 * `single-executable.ts`.
 */
export const SERVE_COMMAND = "internal-sandbox";
export const TREE_COMMAND = "internal-tree";
