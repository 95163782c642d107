import { createHash, hash } from "node:crypto";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import {
  MANIFEST_END,
  manifestBegin,
  manifestLine,
  manifestNoteText,
  PACK_FILES,
  type PackHeader,
} from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { TemporaryFile } from "./zip/temporary-file.ts";
import { type PackFile, zip, type ZipFile } from "./zip/zip-writer.ts";

/**
 * A pack as a ZIP that is made while it is read: the files, then their manifest, then the log's
 * signature over the manifest.
 */
export function packStream(
  files: AsyncIterable<PackFile>,
  header: PackHeader,
  signer: CheckpointSigner,
): Readable {
  return Readable.from(zip(withManifest(files, header, signer), new Date(header.exported_at)), {
    objectMode: false,
    highWaterMark: 256 * 1024,
  });
}

async function* withManifest(
  files: AsyncIterable<PackFile>,
  header: PackHeader,
  signer: CheckpointSigner,
): AsyncGenerator<ZipFile> {
  const manifest = await ManifestWriter.begin(header);
  try {
    for await (const file of files) {
      await manifest.add(file);
      yield file;
    }
    const { file, sha256 } = await manifest.end();
    yield file;
    const text = manifestNoteText(header.log.origin, sha256);
    yield {
      path: PACK_FILES.manifestNote,
      bytes: Buffer.from(await signer.signText(header.log.origin, text)),
    };
  } finally {
    await manifest.close();
  }
}

/** Its lines wait on disk, because there are as many as files. */
class ManifestWriter {
  readonly #file: TemporaryFile;
  readonly #sha256 = createHash("sha256");
  #crc = 0;
  #files = 0;

  private constructor(file: TemporaryFile) {
    this.#file = file;
  }

  static async begin(header: PackHeader): Promise<ManifestWriter> {
    const writer = new ManifestWriter(await TemporaryFile.create());
    await writer.#write(manifestBegin(header));
    return writer;
  }

  async add({ path, bytes }: PackFile): Promise<void> {
    const entry = { path, size_bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
    await this.#write(manifestLine(entry, this.#files === 0));
    this.#files += 1;
  }

  async end(): Promise<{ file: ZipFile; sha256: string }> {
    await this.#write(MANIFEST_END);
    const { size } = this.#file;
    return {
      file: { path: PACK_FILES.manifest, size, crc: this.#crc, chunks: this.#file.read() },
      sha256: this.#sha256.digest("hex"),
    };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#sha256.update(bytes);
    this.#crc = crc32(bytes, this.#crc);
    await this.#file.append(bytes);
  }
}
