import type { ServiceFiles } from "./service-files.ts";
import type { ServiceNotes } from "./service-notes.ts";

/**
 * Where ciphertexts are stored: the disk of this machine, or S3. Agents transfer the bytes
 * themselves, through URLs signed here.
 */
export interface ObjectStore {
  /** The largest object that one PUT takes, in bytes; above it `multipart` is used. */
  readonly singlePutLimitBytes: number;
  readonly multipart: MultipartUploads;
  readonly notes: ServiceNotes;
  readonly files: ServiceFiles;

  /** The URL accepts only these bytes under this key: its signature binds length and SHA-256. */
  presignPut(request: PutRequest): Promise<PresignedPut>;
  presignGet(request: { key: string; expiresInSeconds: number }): Promise<PresignedGet>;
  /** Null if there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  /**
   * Reads the whole object; null if there is none. Callers that ask while it is being read get the
   * same answer. Afterwards `head` vouches for the object, for as long as the process remembers it.
   */
  hash(key: string): Promise<{ sizeBytes: number; sha256: string } | null>;
  /**
   * Removes an object with all its versions. May be repeated; does nothing if there is none.
   * `retained`: an object lock forbids it for now, and the object is unchanged.
   */
  remove(key: string): Promise<"removed" | "retained">;
  /**
   * Every object of this service, or every one whose key begins with this, in no particular order;
   * nothing that others keep in the bucket.
   */
  list(prefix?: string): AsyncIterable<ListedObject>;
  /**
   * Locks an object against removal for as long as the settings say. Does nothing if they say
   * nothing.
   */
  protect(key: string): Promise<void>;
}

/**
 * Parts are numbered from 1. Only a part's length is bound, not its content: `hash` checks that
 * after completion.
 */
export interface MultipartUploads {
  /**
   * The size of every part but the last for an object this large; null if the store can't take it.
   */
  partBytesFor(sizeBytes: number): number | null;
  /** @returns the store's id of the upload */
  create(request: PlannedUpload): Promise<string>;
  /**
   * URLs for all parts of an upload. May be requested again, so an upload may last longer than its
   * URLs.
   */
  presignParts(request: PartsRequest): Promise<PresignedParts>;
  /**
   * May be repeated: also true if it was completed before. False if neither the upload nor the
   * object exists, or if the store lacks some of the named parts.
   */
  complete(request: CompletionRequest): Promise<boolean>;
  /** Does nothing if there is none. */
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
  /** To be sent exactly like this. */
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
   * Lower-case hex if the store itself checked it against the bytes; null if it did not: then use
   * `hash`.
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
  /** All parts but the last. */
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
