import { plainExcerpt } from "@attestore/proof";

/**
 * Makes text that somebody else wrote safe to show in a line: a receipt cannot look like something
 * that it is not.
 */
export const visible = (text: string, limit = 400): string => plainExcerpt(text, limit);
