/** Reads one calendar date written in English or ISO form: for the diagnostic that shows where only the date order differs. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(\\d{1,4})';

const FORMS: readonly {
  readonly pattern: RegExp;
  readonly order: readonly ['y' | 'm' | 'd', 'y' | 'm' | 'd', 'y' | 'm' | 'd'];
}[] = [
  { pattern: new RegExp(`^${DAY} (?:of )?${MONTH} ${YEAR}$`), order: ['d', 'm', 'y'] },
  { pattern: new RegExp(`^(?:the )?${MONTH} ${DAY} ${YEAR}$`), order: ['m', 'd', 'y'] },
  { pattern: /^(\d{4})-(\d{1,2})-(\d{1,2})$/, order: ['y', 'm', 'd'] },
];

const monthNumber = (text: string): number => (/^\d/.test(text) ? Number(text) : MONTHS.indexOf(text.slice(0, 3)) + 1);

/** "YYYY-M-D" of a text that is one existing date, else null. */
export function readDate(text: string): string | null {
  const plain = text.toLowerCase().replace(/[,.]/g, ' ').replace(/\s+/g, ' ').trim();
  for (const { pattern, order } of FORMS) {
    const match = pattern.exec(plain);
    if (match === null) continue;
    const part = (name: 'y' | 'm' | 'd'): string => match[order.indexOf(name) + 1]!;
    const [year, month, day] = [Number(part('y')), monthNumber(part('m')), Number(part('d'))];
    const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day));
    return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? `${year}-${month}-${day}` : null;
  }
  return null;
}
