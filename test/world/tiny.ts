import { RELATION_BY_WORD } from '../../src/world/names.ts';
import { assemble, type Entity, WORLD_DEFAULTS, type World } from '../../src/world/world.ts';

/**
 * A world made by hand. Brask Mills was founded by Mara Voss, whose mentor is Tobin Hale, whose home is Port Ellow.
 * The archive cannot be read at Mara's birthplace, and her source copy has it wrong.
 */
const FACTS: readonly [string, Entity['type'], readonly [string, string, ...string[]][]][] = [
  [
    'Mara Voss',
    'person',
    [
      ['mentor', 'Tobin Hale'],
      ['birthplace', 'Fair Mere', 'Fair ~', 'Fair Dale'],
    ],
  ],
  [
    'Tobin Hale',
    'person',
    [
      ['home', 'Port Ellow'],
      ['spouse', 'Mara Voss'],
    ],
  ],
  ['Brask Mills', 'company', [['founder', 'Mara Voss']]],
  ['Port Ellow', 'town', [['mill', 'Brask Mills']]],
  ['Fair Mere', 'town', [['mayor', 'Tobin Hale']]],
  ['Mara Hale', 'person', [['home', 'Fair Mere']]],
];

export function tinyWorld(): World {
  const names = FACTS.map(([name]) => name);
  const entities = FACTS.map(
    ([name, type, facts], i): Entity => ({
      id: `e${i}`,
      type,
      name,
      facts: facts.map(([relation, value, archive = value, copy = value]) => ({
        relation: RELATION_BY_WORD.get(relation)!,
        value: names.indexOf(value),
        verifiable: archive === value,
        archive,
        copy,
      })),
    }),
  );
  return assemble({ ...WORLD_DEFAULTS, seed: 1, miss: 0, firstRank: 1 }, entities);
}
