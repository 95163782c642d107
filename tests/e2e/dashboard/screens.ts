/** The two screens that pages are looked at on. */
export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 360, height: 780 };

export const SCHEMES = ["light", "dark"] as const;
