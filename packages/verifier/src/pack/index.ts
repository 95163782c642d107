/** What verifies evidence packs in a browser too: nothing here needs Node. */
export type { Basis, BasisKey } from "../basis.ts";
export { CannotTell } from "../cannot-tell.ts";
export { parseKeyList, type KeyList } from "../key-list.ts";
export type { PinnedKey } from "../pinned-key.ts";
export { blobSource } from "../zip/blob-source.ts";
export { packsExpectation } from "./answer-of-packs.ts";
export { joinPacks, type JoinedPacks } from "./join-packs.ts";
export { claimedLog, sizesToCompare } from "./files/log-sizes.ts";
export { verifyPack, type PackEvidence, type PackOutcome } from "./verify-pack.ts";
