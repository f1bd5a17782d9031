/** Audits a log file in one line, without a judge unless one is given. */
import type { LogAudit } from '../../src/recipe/audit-log/audit.ts';
import { auditLogFile, type LogAuditSettings } from '../../src/recipe/audit-log/run.ts';

export const QUIET = { note: () => {}, warn: () => {}, judged: () => {} };

export const audited = (file: string, settings: Partial<LogAuditSettings> = {}): Promise<LogAudit> =>
  auditLogFile(
    {
      ...{ file, map: [], extract: 'text', strict: false, references: null, matcher: 'exact' },
      ...{ judge: null, sources: null, cache: null },
      ...settings,
    },
    QUIET,
  );
