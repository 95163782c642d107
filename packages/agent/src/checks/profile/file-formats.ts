/** How files of formats begin that are often dense. In hex. */
const STARTS = [
  ["ffd8ff", "89504e47", "47494638", "424d", "49492a00", "4d4d002a", "00000100", "38425053"],
  ["504b0304", "504b0506", "504b0708", "25504446", "d0cf11e0", "7b5c7274"],
  ["1f8b", "425a68", "fd377a58", "28b52ffd", "377abcaf", "52617221", "213c6172", "edabeedb", "04224d18"],
  ["4d534346", "7801", "785e", "789c", "78da", "5041434b"],
  ["52494646", "494433", "fffb", "fff3", "fff2", "fff1", "fff9", "1a45dfa3", "4f676753", "664c6143"],
  ["3026b275", "000001ba", "000001b3"],
  ["53514c697465", "00010000", "50415231", "4f626a01", "5047444d50", "89484446"],
  ["7f454c46", "4d5a", "cafebabe", "cffaedfe", "0061736d", "4f54544f", "774f4646", "774f4632"],
].flat();

const LONGEST = 8;
const TAR_AT = 257;
/** How many bytes PDF readers search for its mark. */
const PDF_WITHIN = 1024;

/** Whether a file begins as a known format does. */
export function hasKnownFormat(start: Buffer): boolean {
  const hex = start.toString("hex", 0, LONGEST);
  if (STARTS.some((each) => hex.startsWith(each))) return true;
  const box = start.toString("latin1", 4, 8);
  if (["ftyp", "moov", "mdat", "wide", "free", "skip"].includes(box)) return true;
  if (start.toString("latin1", TAR_AT, TAR_AT + 5) === "ustar") return true;
  return start.subarray(0, PDF_WITHIN).includes("%PDF-");
}
