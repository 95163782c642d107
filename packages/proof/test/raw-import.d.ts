/** Vite's `?raw`: the text of a file, in Node and in the browser alike. */
declare module "*?raw" {
  const text: string;
  export default text;
}
