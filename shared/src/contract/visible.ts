/** Characters without a shape: joiners, direction marks, selectors, fillers, annotations, controls. */
const shapeless = /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb\u{1d159}]/gu;

export const withoutShapeless = (text: string): string => text.replace(shapeless, '');

/** Whether a text has no visible characters. Marks alone stand on nothing; a character that is new to this device counts. */
export const isBlank = (text: string): boolean => /^[\p{Z}\p{M}]*$/u.test(withoutShapeless(text));

/** Characters that change the direction of the surrounding text. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
/** More combining marks than any script uses; they would overlap the lines above. */
const piledMarks = /(\p{M}{4})\p{M}+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** Removes what would garble the text around. */
export const clean = (raw: string) => raw.replace(controls, '').replace(directions, '').replace(piledMarks, '$1');
