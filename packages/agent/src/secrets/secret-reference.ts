/** Where a secret lies: the configuration itself never holds one. */
export type SecretReference =
  | { readonly kind: "env"; readonly name: string }
  /** Absolute; its first line. */
  | { readonly kind: "file"; readonly path: string };
