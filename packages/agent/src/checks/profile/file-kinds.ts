export type FileKind =
  | "pictures"
  | "documents"
  | "archives"
  | "recordings"
  | "databases"
  | "texts"
  | "others"
  | "unnamed";

/** The endings of names, by kind. A picture that is stored in another format is still a picture. */
const ENDINGS: Readonly<Record<Exclude<FileKind, "others" | "unnamed">, string>> = {
  pictures: "jpg jpeg jpe png gif webp bmp tif tiff heic heif avif ico psd cr2 nef arw dng",
  documents: "pdf doc docx docm dot dotx xls xlsx xlsm xlsb ppt pptx pptm odt ods odp odg rtf epub",
  archives: "zip gz tgz bz2 xz zst 7z rar tar jar war apk deb rpm lz4",
  recordings: "mp3 m4a aac flac ogg oga opus wav mp4 m4v mov avi mkv webm wmv wma mpg mpeg",
  databases: "sqlite sqlite3 mdb accdb parquet",
  texts:
    "txt md csv tsv json jsonl xml html htm css js mjs ts tsx jsx svg yaml yml toml ini conf cfg log sql py rb php java c h cpp hpp cs go rs sh pl tex bib eml ics vcf srt",
};

const KIND_OF: ReadonlyMap<string, FileKind> = new Map(
  Object.entries(ENDINGS).flatMap(([kind, endings]) =>
    endings.split(" ").map((ending) => [ending, kind as FileKind] as const),
  ),
);

/** Endings that programs put after another, as `report.pdf.bak`. */
const AFTER_ANOTHER = new Set(
  "bak old orig tmp temp part partial crdownload swp save dist sample example template map license lock gpg pgp asc sig sha1 sha256 md5 crypt12 crypt14 enc1 age br meta erb ejs twig j2 rej diff patch mo po d snap new 1 2 3 4 5 6 7 8 9".split(
    " ",
  ),
);

/** Endings that known ransomware appends to names. */
const RANSOM_ENDINGS = new Set(
  "locked encrypted crypted crypt enc lockbit ryuk ryk conti akira blackcat alphv clop cl0p wncry wcry wncryt locky zepto cerber cerber2 cerber3 aesir osiris djvu stop revil sodinokibi egregor phobos dharma onion medusa makop babyk rhysida avoslocker blackbasta basta globeimposter crysis gandcrab krab crab ecc ezz vvv zzzzz ttt xtbl cryp1 crypz deadbolt qlocker ech0raix muhstik qnapcrypt".split(
    " ",
  ),
);

const NOTES = [
  /^[!#_ .-]*how[ _.-]?to[ _.-]?(?:decrypt|(?:restore|recover|unlock|back|return|get)[ _.-]?(?:your|my|all|back)?[ _.-]?(?:files|data))/i,
  /^[!#_ .-]*what[ _.-]?happened[ _.-]?(?:to|with)?[ _.-]?(?:my|your|the)?[ _.-]?(?:files|data)/i,
  /^[!#_ .-]*(?:please[ _.-]?)?read[ _.-]?me[ _.-]?(?:for|to|now)[ _.-]?(?:decrypt|restore|recover|unlock)/i,
  /^[!#_ .-]*(?:decrypt|recover|restore|unlock)[ _.-]*(?:my|your|the)?[ _.-]*(?:files|instructions?)/i,
  /^[!#_ .-]*(?:help|instructions?)[ _.-]*(?:to|for)?[ _.-]*(?:decrypt|recover|unlock|your[ _.-]files)/i,
  /^[!#_ .-]*(?:all[ _.-]*)?your[ _.-]*files[ _.-]*(?:are|have|were)/i,
  /^[!#_ .-]*(?:files|data)[ _.-]*(?:encrypted|locked)\./i,
  /^(?:ryuk|conti|akira|lockbit|royal|hive|maze|cuba|medusa|rhysida|blackbasta|babuk)[ _.-]?(?:read[ _.-]?me|note|ransom)/i,
  /^[a-z0-9]{5,10}-(?:readme|how-to-decrypt|decrypt)\.(?:txt|hta)$/,
  /^_readme\.txt$/,
  /^@?please_read_me@?\.txt$/i,
  /^(?:ransom[ _.-]?note|!!!read_?me!!!|info\.hta$)/i,
];
/** Endings of files in which a note can be read. */
const READABLE = /\.(?:txt|html?|hta|rtf|png|bmp|url)$/i;

export interface FileName {
  readonly kind: FileKind;
  /** As ransomware makes names. */
  readonly isRenamed: boolean;
  readonly isNote: boolean;
}

/** A file's own name, without its directories. */
export function readFileName(name: string): FileName {
  const parts = name.split(".");
  // A name that starts with a dot has no ending for that.
  const ending = parts.length > 1 && (parts[0] !== "" || parts.length > 2) ? (parts.at(-1) ?? "") : "";
  const last = ending.toLowerCase();
  const before = (parts.at(-2) ?? "").toLowerCase();
  const kind = last === "" ? "unnamed" : (KIND_OF.get(last) ?? "others");
  const isDoubled = kind === "others" && parts.length > 2 && isOfPeople(before) && !AFTER_ANOTHER.has(last);
  return {
    kind,
    isRenamed: RANSOM_ENDINGS.has(last) || isDoubled,
    isNote: READABLE.test(name) && NOTES.some((note) => note.test(name)),
  };
}

/** Only what people keep: programs make names such as `app.css.LICENSE`. */
function isOfPeople(ending: string): boolean {
  const kind = KIND_OF.get(ending);
  return kind !== undefined && kind !== "texts" ? true : PLAIN_TEXTS.has(ending);
}

const PLAIN_TEXTS = new Set(["txt", "csv", "md", "eml", "sql"]);
