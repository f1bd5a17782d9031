import { Option } from 'commander';

export const quietOption = (): Option => new Option('--quiet', 'no progress; only the tables at the end');
