/** The bytes of a ZIP: a file on a disk, or one that somebody gave to a browser. */
export interface ZipSource {
  readonly size: number;
  /** All of these bytes. Throws ZipError if there are fewer. */
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
