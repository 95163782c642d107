/**
 * minisign's public key of the people who release Attestore (`RW` and 54 characters of base64). Its secret half is made offline and
 * never lies on a service (docs/releasing.md). The installer and the agent accept what it signed without being asked.
 *
 * Null until the project's first release: until then every build is signed by the key of whoever made it.
 */
export const RELEASE_KEY: string | null = null;
