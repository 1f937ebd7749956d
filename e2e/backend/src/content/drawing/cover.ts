export function coverSvg(name: string): string | undefined {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4"><title>${name}</title><rect width="3" height="4" fill="#F7F3EA"/></svg>`;
}
