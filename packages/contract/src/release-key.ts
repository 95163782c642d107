/**
 * The minisign public key of Attestore's releases (`RW` and 54 characters of base64), or null until
 * the first release; until then each build is signed with its builder's key. The secret half is
 * made offline and never lies on a service (docs/releasing.md). The installer and the agent accept
 * what this key signed without asking.
 */
export const RELEASE_KEY: string | null = null;
