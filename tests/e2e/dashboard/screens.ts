/** The two screen sizes that pages are tested on. */
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 360, height: 780 };

export const SCHEMES = ["light", "dark"] as const;
