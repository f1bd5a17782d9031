/**
 * The words of the miniature world: four entity types, six relations each, and the name parts that entities are composed
 * from. All words are distinct whatever their case, so one word is one token and tells its own role.
 */
export const TYPES = ['person', 'company', 'book', 'town'] as const;
export type EntityType = (typeof TYPES)[number];

export interface Relation {
  /** Canonical word first: pages and think blocks use it; questions use any. */
  readonly wordings: readonly [string, string, string];
  readonly from: EntityType;
  readonly to: EntityType;
}

const row = (from: EntityType, to: EntityType, words: string): Relation => ({
  from,
  to,
  wordings: words.split(' ') as [string, string, string],
});

/** Every target type occurs at least twice within a type, so a plausible wrong fact is always on the page. */
export const RELATIONS: readonly Relation[] = [
  row('person', 'town', 'birthplace cradle hometown'),
  row('person', 'town', 'home residence dwelling'),
  row('person', 'town', 'grave tomb burial'),
  row('person', 'person', 'spouse partner consort'),
  row('person', 'person', 'rival enemy opponent'),
  row('person', 'person', 'mentor teacher tutor'),
  row('company', 'person', 'founder creator originator'),
  row('company', 'person', 'director chief manager'),
  row('company', 'person', 'owner proprietor holder'),
  row('company', 'town', 'seat headquarters base'),
  row('company', 'town', 'plant factory workshop'),
  row('company', 'town', 'store shop outlet'),
  row('book', 'person', 'author writer novelist'),
  row('book', 'person', 'editor reviser redactor'),
  row('book', 'town', 'setting backdrop locale'),
  row('book', 'town', 'scene climax finale'),
  row('book', 'company', 'publisher imprint press'),
  row('book', 'company', 'printer typesetter pressman'),
  row('town', 'person', 'mayor provost burgomaster'),
  row('town', 'person', 'bishop prelate vicar'),
  row('town', 'person', 'hero champion idol'),
  row('town', 'company', 'mine quarry colliery'),
  row('town', 'company', 'mill granary weavery'),
  row('town', 'company', 'bank lender treasury'),
];

export const RELATIONS_OF: Readonly<Record<EntityType, readonly Relation[]>> = {
  person: RELATIONS.filter((r) => r.from === 'person'),
  company: RELATIONS.filter((r) => r.from === 'company'),
  book: RELATIONS.filter((r) => r.from === 'book'),
  town: RELATIONS.filter((r) => r.from === 'town'),
};

/** Any wording to its relation. */
export const RELATION_BY_WORD: ReadonlyMap<string, Relation> = new Map(
  RELATIONS.flatMap((r) => r.wordings.map((w) => [w, r] as const)),
);

export interface NamePool {
  readonly first: readonly string[];
  readonly second: readonly string[];
}

const pool = (first: string, second: string): NamePool => ({ first: first.split(' '), second: second.split(' ') });

/** A name is one first and one second part of its type. */
export const NAMES: Readonly<Record<EntityType, NamePool>> = {
  person: pool(
    'Mara Tobin Elska Doran Ilse Corvin Nadia Perrin Odette Rufus Selma Thorvald Una Viktor Wanda Yorick Agnes Bertil Clara Desmond Edda Florian Greta Hakon Ingrid Jasper Klaus Lorna Magnus Nell Orla Piers',
    'Voss Hale Brandt Quill Sorrel Tanner Ulrich Vance Wexler Yates Abbot Birch Carrow Dunmore Ekdahl Fenwick Garrick Holm Ivers Jarrow Kestrel Lindqvist Morrow Nash Ostrander Pell Ravn Sterling Thane Underhill Varga Winslow Ashdown Bellamy Crane Drummond Eastman Forsyth Galt Hobbs Irving Kemp Larkin Mercer Norwood Osgood Pryce Rook',
  ),
  company: pool(
    'Brask Halden Norvik Pemberly Tarn Zenith Corbel Drayton Elmont Fairfax Gresham Harrow Istria Juno Kelso Lumen Marlin Nimbus Orbis Pallas Quantock Rigel Solway Trident Umbra Vantage Wessex Xenon Yarrow Zephyr Argent Borealis Calder Dynamo Everett Fulcrum Gannet Hexam Ibex Jubilee',
    'Mills Works Foundry Traders Brothers Holdings Freight Textiles Optics Chemicals Motors Associates',
  ),
  book: pool(
    'Silent Crimson Broken Hidden Burning Distant Forgotten Golden Hollow Frozen Wandering Quiet Restless Shattered Drowned Painted Scarlet Endless Fading Gilded Haunted Invisible Jagged Kindled Lonely Moonlit Nameless Obsidian Pale Rising Secret Twisted',
    'Harbor Garden Mirror Orchard Lantern River Compass Tower Letters Winter Sparrow Kingdom Promise Shadow Cathedral Voyage Clock Island Feather Bridge Mountain Song Archive Carnival Desert Empire Forest Labyrinth Horizon Inheritance Journey Key Library Meadow Night Oracle Pilgrim Road Storm Thread',
  ),
  town: pool(
    'Port Fair North South East West High Low Old New Great Little Upper Lower Stone Oak Ash Elm Thorn Fern Cold Black White Red Green Grey Long Broad Saint Castle Church Abbey Market King Queen Fox Hart Swan Raven Otter',
    'Ellow Mere Haven Bury Dale Combe Ford Leigh Ness Stow Thwaite Wick Marsh Cross Hythe Firth Glen Moor Strand Vale Weald Barrow Cliff Downs',
  ),
};
