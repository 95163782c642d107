/** A page of a thousand long keys is about a megabyte. */
const LONGEST_ANSWER = 16 * 1024 ** 2;
/** Of a refusal only the beginning is quoted. */
const LONGEST_REFUSAL = 2048;

/**
 * The text of an answer, if it is no longer than the store's answers are: one that never ends would
 * otherwise fill the memory of the service.
 */
export async function readAnswer(response: Response): Promise<string> {
  const { text, isWhole } = await readUpTo(response, LONGEST_ANSWER);
  if (!isWhole) throw new Error(`the object store's answer is longer than ${LONGEST_ANSWER} bytes`);
  return text;
}

export async function readRefusal(response: Response): Promise<string> {
  return (await readUpTo(response, LONGEST_REFUSAL)).text;
}

/** No more than that many bytes of an object. */
export async function readBytes({ body }: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}

async function readUpTo(response: Response, longest: number): Promise<{ text: string; isWhole: boolean }> {
  const bytes = await readBytes(response, longest + 1);
  return { text: bytes.subarray(0, longest).toString("utf8"), isWhole: bytes.length <= longest };
}
