/** Characters without a shape: joiners, direction marks, selectors, fillers, annotations, controls. */
const shapeless = /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb\u{1d159}]/gu;

export const withoutShapeless = (text: string): string => text.replace(shapeless, '');

/** Whether a text has no visible characters. Marks alone stand on nothing; a character that is new to this device counts. */
export const isBlank = (text: string): boolean => /^[\p{Z}\p{M}]*$/u.test(withoutShapeless(text));

/** Characters that change the direction of the surrounding text. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
/** More combining marks than any script uses; they would overlap the lines above. */
const piledMarks = /(\p{M}{4})\p{M}+/gu;
/** Controls but for tabs and line ends, marks of byte order and annotation, halves of surrogate pairs. */
const controls = /[^\P{Cc}\t\n\r]|[\ufeff\ufff9-\ufffb\p{Cs}]/gu;

/** Removes what would garble the text around. */
export const clean = (raw: string) => raw.replace(controls, '').replace(directions, '').replace(piledMarks, '$1');
