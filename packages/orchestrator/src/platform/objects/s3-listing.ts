import { xmlElements, xmlText } from "@attestore/host/s3/xml";
import type { S3Answer, S3Client } from "./s3-client.ts";

/**
 * Which of S3's lists: its parameter, the element of an entry, and how to ask for the next page.
 */
interface Listing {
  parameters: Record<string, string>;
  entries: string[];
  /** Element of the answer → parameter of the next request. */
  next: Record<string, string>;
}

export const OBJECTS: Listing = {
  parameters: { "list-type": "2" },
  entries: ["Contents"],
  next: { NextContinuationToken: "continuation-token" },
};

export const VERSIONS: Listing = {
  parameters: { versions: "" },
  entries: ["Version", "DeleteMarker"],
  next: { NextKeyMarker: "key-marker", NextVersionIdMarker: "version-id-marker" },
};

export const MULTIPART_UPLOADS: Listing = {
  parameters: { uploads: "" },
  entries: ["Upload"],
  next: { NextKeyMarker: "key-marker", NextUploadIdMarker: "upload-id-marker" },
};

export interface ListEntry {
  key: string;
  /** The text of an element of the entry. */
  text: (name: string) => string | null;
}

/** The entries of all pages. */
export async function* listS3(client: S3Client, listing: Listing, prefix: string): AsyncIterable<ListEntry> {
  let position: Record<string, string> | null = {};
  while (position !== null) {
    const query: Record<string, string> = {
      ...listing.parameters,
      "encoding-type": "url",
      prefix,
      ...position,
    };
    const response: S3Answer = await client.call({ method: "GET", key: "", query }, [200]);
    const xml: string = response.text;
    const isEncoded = xmlText(xml, "EncodingType") === "url";
    for (const name of listing.entries) {
      for (const entry of xmlElements(xml, name)) {
        const key = decodeKey(xmlText(entry, "Key") ?? "", isEncoded);
        yield { key, text: (element) => xmlText(entry, element) };
      }
    }
    position = xmlText(xml, "IsTruncated") === "true" ? nextPosition(xml, listing, isEncoded) : null;
  }
}

function nextPosition(xml: string, listing: Listing, isEncoded: boolean): Record<string, string> {
  const position: Record<string, string> = {};
  for (const [element, parameter] of Object.entries(listing.next)) {
    const value = xmlText(xml, element);
    if (value === null || value === "") continue;
    position[parameter] = element === "NextKeyMarker" ? decodeKey(value, isEncoded) : value;
  }
  // Without one the same page would come for ever.
  if (Object.keys(position).length === 0) throw new Error("the object store's list is incomplete");
  return position;
}

/**
 * Not every store applies the encoding that was requested, and some keys that others put into the
 * bucket could then not be decoded.
 */
function decodeKey(text: string, isEncoded: boolean): string {
  if (!isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
