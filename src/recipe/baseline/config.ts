/** Settings of a training baseline: those of the loop, the recipe, and what it trains on. */
import { z } from 'zod';
import { evolveSchema } from '../config.ts';
import { RECIPES, type RecipeName } from './recipes.ts';

const trainSchema = z.strictObject({
  recipe: z.enum(Object.keys(RECIPES) as [RecipeName, ...RecipeName[]]),
  loop: evolveSchema,
  /** Null: the recipe writes its own questions. */
  gold: z
    .strictObject({
      /** Null: gold questions of the task. */
      file: z.string().nullable(),
      questions: z.int().min(1),
      /** Content id of the questions. */
      id: z.string(),
    })
    .nullable(),
});

export type TrainConfig = z.infer<typeof trainSchema>;
