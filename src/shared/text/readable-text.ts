/**
 * Whether people see the whole text: names, descriptions, memos. Control, bidirectional and invisible characters are
 * refused: they show one name as another, and hide a difference between two (Unicode TR36 section 3.1, TR39 section 3.1).
 *
 * Joiners pass where writing needs them: in emoji, between Arabic letters, after an Indic virama (RFC 5892 appendix A).
 * A lone surrogate and a private character look different everywhere, or like nothing at all.
 */
export function isReadable(text: string): boolean {
  return !unreadable.test(text.replace(joined, ''));
}

const joined =
  /\p{RGI_Emoji}|(?<=\p{Script=Arabic}\p{M}*)\u200C(?=\p{Script=Arabic})|(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA])[\u200C\u200D](?=\p{L})/gv;

// A blank Braille cell and the Hangul fillers are visible by their category, and empty on the screen.
const unreadable =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/u;
