import { type ExpectedContent, expectedContent, recordOf } from "../../content/expected-content.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { type ContentSettings, TAGS_APART } from "./describe-content.ts";

/** The content that a backup's metadata describe, and the settings that printed its rows. */
export interface ExpectedRows extends ExpectedContent {
  readonly settings: ContentSettings;
}

/** We received the metadata: null if they contain nothing to compare with. */
export function expectedRows(metadata: ForeignMetadata): ExpectedRows | null {
  const expected = expectedContent(metadata, TAGS_APART);
  const { settings } = recordOf(metadata["content"]);
  const { bytea_output, quote_all_identifiers, lc_monetary, client_encoding } = recordOf(settings);
  const isKnown =
    (bytea_output === "hex" || bytea_output === "escape") &&
    (quote_all_identifiers === "on" || quote_all_identifiers === "off") &&
    typeof lc_monetary === "string" &&
    typeof client_encoding === "string" &&
    /^[A-Za-z0-9_]{1,32}$/.test(client_encoding);
  return expected === null || !isKnown
    ? null
    : { ...expected, settings: { bytea_output, quote_all_identifiers, lc_monetary, client_encoding } };
}
