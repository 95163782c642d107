/** Where a secret is: the configuration itself never contains one. */
export type SecretReference =
  | { readonly kind: "env"; readonly name: string }
  /** Absolute; the secret is its first line. */
  | { readonly kind: "file"; readonly path: string };
