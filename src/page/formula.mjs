// formula.mjs - the published number of messages, where the catalogue has it as a formula in n: "2(n-1) messages",
// "0 to n messages". Factors may be written without a sign; H is the harmonic number.

function evaluate(text, n) {
  let at = 0;
  const peek = () => text[at];
  const number = () => {
    const digits = /^[0-9.]+/.exec(text.slice(at));
    if (digits) return (at += digits[0].length, Number(digits[0]));
    if (text.startsWith('H(', at)) {
      at += 1;
      const x = number();
      let sum = 0;
      for (let k = 1; k <= x; k++) sum += 1 / k;
      return sum;
    }
    if (peek() === 'n') return (at++, n);
    if (peek() !== '(') throw new SyntaxError();
    at++;
    const x = sum();
    if (text[at++] !== ')') throw new SyntaxError();
    return x;
  };
  const product = () => {
    let x = number();
    for (;;) {
      if (peek() === '/') {
        at++;
        let under = number();
        while (at < text.length && /[n(]/.test(peek())) under *= number();
        x /= under;
      } else if (at < text.length && /[n(0-9H]/.test(peek())) x *= number();
      else return x;
    }
  };
  const sum = () => {
    let x = product();
    while (peek() === '+' || peek() === '-') x = text[at++] === '+' ? x + product() : x - product();
    return x;
  };
  const value = sum();
  if (at !== text.length) throw new SyntaxError();
  return value;
}

// [{text, y}] of a cost such as "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T"; empty if it is no formula.
export function published(cost, n) {
  const found = [];
  const add = (formula, remark) => {
    try {
      const y = evaluate(formula.replaceAll(' ', ''), n);
      found.push({ text: `${formula}${remark}${String(y) === formula ? '' : ` = ${Number(y.toPrecision(4))}`}`, y });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // words, not a formula
    }
  };
  const part = cost.split(/;|, delay/)[0];
  const range = /^(\S+)(?: to (\S+))? messages?/.exec(part);
  if (range) {
    add(range[1], range[2] ? ' at least' : /^\S+ messages?( at (?:light|full) load)/.exec(part)?.[1] ?? '');
    if (range[2]) add(range[2], ' at most');
  }
  for (const [, formula, remark] of part.matchAll(/, ([^,]+?)( at (?:light|full) load)/g)) add(formula, remark);
  return found.filter(({ y }) => Number.isFinite(y));
}
