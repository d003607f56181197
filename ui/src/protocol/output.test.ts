// An output's end, by the cases that the service is held to as well.
import { expect, test } from 'vitest';
import cases from './output.cases.json';
import { appendOutput } from './output';

const repeated = ([text, times]: (string | number)[]): string => String(text).repeat(Number(times));

test.each(cases.map(([pieces, shown], at) => ({ at, pieces, shown })))(
  'x07_output_keeps_its_end_only_as_the_service_does ($at)',
  ({ pieces, shown }) => {
    const output = (pieces ?? []).map(repeated).reduce(appendOutput, '');
    expect(output).toBe((shown ?? []).map(repeated).join(''));
  },
);
