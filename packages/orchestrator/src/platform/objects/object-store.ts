import type { ServiceNotes } from "./service-notes.ts";

/**
 * Where ciphertexts are kept: the disk of this machine, or S3. Agents move the bytes themselves,
 * through URLs signed here.
 */
export interface ObjectStore {
  /** The largest object that one PUT takes, in bytes; above it `multipart` is used. */
  readonly singlePutLimitBytes: number;
  readonly multipart: MultipartUploads;
  readonly notes: ServiceNotes;

  /**
   * The URL takes these bytes under this key and no others: length and SHA-256 are bound by its
   * signature.
   */
  presignPut(request: PutRequest): Promise<PresignedPut>;
  presignGet(request: { key: string; expiresInSeconds: number }): Promise<PresignedGet>;
  /** Null where there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  /**
   * Reads the whole object; null where there is none. Who asks while it is being read gets the same
   * answer, and `head` vouches for an object that was read, for as long as the process remembers
   * it.
   */
  hash(key: string): Promise<{ sizeBytes: number; sha256: string } | null>;
  /**
   * Removes an object with all its versions. May be repeated; nothing happens where there is none.
   * `retained`: an object lock forbids it for now, and the object is as it was.
   */
  remove(key: string): Promise<"removed" | "retained">;
  /**
   * Every object of this service, or every one whose key begins so, in no particular order; not
   * what others keep in the bucket.
   */
  list(prefix?: string): AsyncIterable<ListedObject>;
  /**
   * Locks an object against removal for as long as the settings say. Nothing happens where they say
   * nothing.
   */
  protect(key: string): Promise<void>;
}

/**
 * Parts are numbered from 1. What a part holds is not bound beyond its length: `hash` tells after
 * completion.
 */
export interface MultipartUploads {
  /**
   * How large the parts of such an object are, all but the last; null where the store takes no
   * object so large.
   */
  partBytesFor(sizeBytes: number): number | null;
  /** @returns the store's id of the upload */
  create(request: PlannedUpload): Promise<string>;
  /**
   * URLs of all parts of an upload. May be asked for again, so that an upload may last longer than
   * its URLs.
   */
  presignParts(request: PartsRequest): Promise<PresignedParts>;
  /**
   * May be repeated: true also if it was completed before. False where neither the upload nor the
   * object is there, or where the store does not have the parts that are named.
   */
  complete(request: CompletionRequest): Promise<boolean>;
  /** Nothing happens where there is none. */
  abort(request: { key: string; uploadId: string }): Promise<void>;
  /** The uploads of this service that were neither completed nor aborted. */
  list(): AsyncIterable<UnfinishedUpload>;
}

export interface PutRequest {
  key: string;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
  expiresInSeconds: number;
}

export interface PresignedPut {
  url: string;
  method: "PUT";
  /** To be sent exactly so. */
  headers: Record<string, string>;
  expiresAt: Date;
}

export interface PresignedGet {
  url: string;
  expiresAt: Date;
}

export interface StoredObject {
  sizeBytes: number;
  /**
   * Lower-case hex, where the store itself has checked it against the bytes; null where it has not:
   * then `hash`.
   */
  sha256: string | null;
}

export interface ListedObject {
  key: string;
  sizeBytes: number;
  modifiedAt: Date;
}

export interface PlannedUpload {
  key: string;
  sizeBytes: number;
  /** Of all parts but the last. */
  partBytes: number;
}

export interface PartsRequest extends PlannedUpload {
  uploadId: string;
  expiresInSeconds: number;
}

export interface CompletionRequest {
  key: string;
  uploadId: string;
  parts: CompletedPart[];
}

export interface CompletedPart {
  partNumber: number;
  etag: string;
}

export interface PresignedParts {
  parts: (PresignedPut & { partNumber: number; sizeBytes: number })[];
  expiresAt: Date;
}

export interface UnfinishedUpload {
  key: string;
  uploadId: string;
  initiatedAt: Date;
}
